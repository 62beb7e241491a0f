export function isolatedCommand(
  copy: string,
  command: readonly string[],
  tree?: string,
): { readonly command: readonly string[]; readonly temporary: string }
