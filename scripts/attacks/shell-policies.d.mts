interface ShellPolicy {
  readonly allow: readonly string[]
  readonly deny: readonly string[]
}

/** The policies of the command lines, by name; `general` allows every command that it does not deny. */
export const SHELL_POLICIES: Readonly<Record<'corpus' | 'dev' | 'builtins', ShellPolicy>> & {
  readonly general: Pick<ShellPolicy, 'deny'>
}
