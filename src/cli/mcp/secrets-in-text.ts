import { createRedactor } from '../../records/redaction/index.ts'

const redactor = createRedactor()

/** Whether a text has the shape of a well-known secret. */
export function holdsSecret(text: string): boolean {
  return markSecrets(text) !== text
}

/** What stands where a well-known secret stood. */
export const MARK = /\[redacted:[a-z-]{1,40}\]/g

/** Without a default, and with the colon that would make it the password of an address. */
const REFERENCE = /:?\$\{(?:[A-Za-z]+:(?!-))?[A-Za-z_][\w.-]*\}/g

/** A text with marks where it holds well-known secrets; references are none. */
export function markSecrets(text: string): string {
  const references: string[] = []
  // Characters of private use: a text that has them has no references that count.
  if (/[\ue000\ue001]/.test(text)) return redactor.text(text)
  // A brace, because no secret of an address has one.
  const masked = text.replaceAll(REFERENCE, (reference) => `{\ue000${references.push(reference) - 1}\ue001`)
  return redactor.text(masked).replaceAll(/\{\ue000(\d+)\ue001/g, (_, index: string) => references[Number(index)]!)
}

/** The last word of a name says what the value is: `--api-key`, `GITHUB_TOKEN`, `X-Api-Key`; not `--max-tokens`. */
const NAMES_SECRET =
  /(?:^|[^a-z])(?:token|secret|password|passwd|passphrase|pwd|pat|credentials?|authorization|(?:api|access|private|secret|auth|signing|license)[-_]?key|key)$/i

/** Whether a name says that its value is a secret. */
export function namesSecret(name: string): boolean {
  return NAMES_SECRET.test(name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2'))
}

/** `"GITHUB_TOKEN": "…"`, `password: …`, with its value. */
const NAMED = /(["']?)([A-Za-z][\w-]{0,80})\1(\s*[:=]\s*)("[^"]*"|'[^']*'|(?:\$\{[^}\s]*\}|[^\s,{}[\]"'])+)/g

/** A text of a config or a diff without the secrets in it, by their shape and by the name before them. */
export function hideInText(text: string): string {
  return markSecrets(text).replaceAll(NAMED, (whole, quote: string, name: string, between: string, value: string) =>
    namesSecret(name) && !isReference(value.replaceAll(/^["']|["']$/g, ''))
      ? `${quote}${name}${quote}${between}[redacted]`
      : whole,
  )
}

const ONLY_REFERENCES = /^(?:(?:Bearer|Basic|token) +)?(?:\$\{(?:[A-Za-z]+:(?!-))?[A-Za-z_][\w.-]*\})+$/i

/** Whether a value says nothing by itself: references without a default, at most after the word of a scheme. */
export function isReference(value: string): boolean {
  return ONLY_REFERENCES.test(value)
}
