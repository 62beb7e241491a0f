export type { OidcOptions, ServiceOptions, WebhookOptions } from '../config/to-service.ts'
export { type RunningService, type StartServiceOptions, startService } from './start-service.ts'
