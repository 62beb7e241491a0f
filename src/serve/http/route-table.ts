import type { Route } from './route.ts'
import { AGENT_ROUTES } from './routes/agent-routes.ts'
import { ANSWER_ROUTES } from './routes/answer-routes.ts'
import { ARTIFACT_ROUTES } from './routes/artifact-routes.ts'
import { ASK_ROUTES } from './routes/ask-routes.ts'
import { CALL_ROUTES } from './routes/call-routes.ts'
import { CANVAS_ROUTES } from './routes/canvas-routes.ts'
import { EVENT_ROUTES } from './routes/event-routes.ts'
import { GRANT_ROUTES } from './routes/grant-routes.ts'
import { INBOX_ROUTES } from './routes/inbox-routes.ts'
import { MCP_ROUTES } from './routes/mcp-routes.ts'
import { MEMORY_ROUTES } from './routes/memory-routes.ts'
import { POLICY_ROUTES } from './routes/policy-routes.ts'
import { PRINCIPAL_ROUTES } from './routes/principal-routes.ts'
import { RUN_ROUTES } from './routes/run-routes.ts'
import { SCHEDULE_ROUTES } from './routes/schedule-routes.ts'
import { SERVICE_ROUTES } from './routes/service-routes.ts'
import { SESSION_ROUTES } from './routes/session-routes.ts'
import { TOKEN_ROUTES } from './routes/token-routes.ts'
import { TOOL_ROUTES } from './routes/tool-routes.ts'

/** Everything that is served: the app and the OpenAPI document are both made of it. */
export const ROUTES: readonly Route[] = [
  ...CALL_ROUTES,
  ...TOOL_ROUTES,
  ...RUN_ROUTES,
  ...AGENT_ROUTES,
  ...ARTIFACT_ROUTES,
  ...ASK_ROUTES,
  ...ANSWER_ROUTES,
  ...GRANT_ROUTES,
  ...POLICY_ROUTES,
  ...PRINCIPAL_ROUTES,
  ...MEMORY_ROUTES,
  ...CANVAS_ROUTES,
  ...SCHEDULE_ROUTES,
  ...INBOX_ROUTES,
  ...EVENT_ROUTES,
  ...TOKEN_ROUTES,
  ...SESSION_ROUTES,
  ...SERVICE_ROUTES,
  ...MCP_ROUTES,
]
