export type { OidcOptions, ServiceOptions, WebhookOptions } from '../config/index.ts'
export { type RunningService, type StartServiceOptions, startService } from '../server/index.ts'
