export type { OidcOptions, ServiceOptions, WebhookOptions } from '../config/index.ts'
export type { RunningWorker, WorkerLogEntry, WorkerOptions } from '../hub/index.ts'
export {
  type RunningService,
  type StartedWorker,
  type StartServiceOptions,
  startService,
  startWorker,
} from '../server/index.ts'
