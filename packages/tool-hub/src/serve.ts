export type { OidcOptions, ServiceOptions, WebhookOptions } from '@tool-hub/config'
export {
  type RunningService,
  type RunningWorker,
  type StartedWorker,
  type StartServiceOptions,
  type StartWorkerOptions,
  startService,
  startWorker,
  type WorkerLogEntry,
  type WorkerOptions,
} from '@tool-hub/server'
