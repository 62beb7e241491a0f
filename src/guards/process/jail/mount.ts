/** One step in making the root of a jail; `to` is a path in the jail. */
export type Mount =
  | { readonly kind: 'read' | 'write'; readonly from: string; readonly to: string }
  | { readonly kind: 'memory'; readonly to: string; readonly bytes: number; readonly mode: '0755' | '1777' }
  | { readonly kind: 'link'; readonly target: string; readonly to: string }
  /** Nothing in it, and nothing can be put there. */
  | { readonly kind: 'hideFolder'; readonly to: string }
  /** Cannot be opened, by root neither. */
  | { readonly kind: 'hideFile'; readonly to: string }
