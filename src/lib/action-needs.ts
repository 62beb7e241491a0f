/** The arguments that each action of a tool needs; a list stands for "one of these". */
export type ActionNeeds = Readonly<Record<string, readonly (string | readonly string[])[]>>

interface RefinementContext {
  addIssue(issue: { code: 'custom'; message: string }): void
}

/**
 * A check for `superRefine`: a call whose action lacks an argument is refused before anybody is asked to approve it.
 * @example
 * z.strictObject({ action, name, text }).superRefine(actionNeeds('note', { save: ['name', 'text'], remove: ['name'] }))
 * // note save needs text
 */
export function actionNeeds(noun: string, needs: ActionNeeds) {
  return (input: { readonly action: string }, context: RefinementContext): void => {
    const given = new Map<string, unknown>(Object.entries(input))
    const isMissing = (key: string) => given.get(key) === undefined
    for (const need of Object.hasOwn(needs, input.action) ? needs[input.action]! : []) {
      const keys = typeof need === 'string' ? [need] : need
      if (!keys.every(isMissing)) continue
      context.addIssue({ code: 'custom', message: `${noun} ${input.action} needs ${wordList(keys)}` })
    }
  }
}

function wordList(keys: readonly string[]): string {
  return keys.length === 1 ? keys[0]! : `${keys.slice(0, -1).join(', ')} or ${keys.at(-1)}`
}
