import { didYouMean, ToolError } from '../core/index.ts'

/** Refuses keys nobody reads: a misspelt condition would silently make a rule broader. */
export function refuseUnknownKeys(value: object, known: readonly string[], where: (key: string) => string): void {
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue
    throw new ToolError('CONFIG_INVALID', `${where(key)}: ${JSON.stringify(key)} is not known here.`, {
      hint: `${didYouMean(key, known)} Known: ${known.join(', ')}.`.trim(),
    })
  }
}
