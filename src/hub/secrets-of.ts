import type { HubOptions } from '../core/index.ts'

const SECRET_NAME = /TOKEN|SECRET|PASS|AUTH|CREDENTIAL|(^|_)KEY($|_)/i

/** A secret that tools use by name must not come back by value. */
export function secretsOf({ redact, secrets = {}, sandbox }: HubOptions): NonNullable<HubOptions['redact']> {
  const passed = (sandbox?.commands?.env ?? []).filter((name) => SECRET_NAME.test(name))
  const values = [
    ...Object.values(secrets).map(({ value }) => value),
    ...passed.flatMap((name) => process.env[name] ?? []),
  ]
  return { ...redact, values: [...(redact?.values ?? []), ...values] }
}
