/** The policies of the command lines, by name. */
export const SHELL_POLICIES: Readonly<
  Record<'corpus' | 'dev', { readonly allow: readonly string[]; readonly deny: readonly string[] }>
>
