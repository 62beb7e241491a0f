import { createRedactor } from '../../record/redact.ts'

const redactor = createRedactor()

/** Whether a text has the shape of a well-known secret. */
export function holdsSecret(text: string): boolean {
  return redactor.text(text) !== text
}
