import type { Route } from './route.ts'
import { ANSWER_ROUTES } from './routes/answer-routes.ts'
import { ARTIFACT_ROUTES } from './routes/artifact-routes.ts'
import { ASK_ROUTES } from './routes/ask-routes.ts'
import { CALL_ROUTES } from './routes/call-routes.ts'
import { EVENT_ROUTES } from './routes/event-routes.ts'
import { GRANT_ROUTES } from './routes/grant-routes.ts'
import { MCP_ROUTES } from './routes/mcp-routes.ts'
import { POLICY_ROUTES } from './routes/policy-routes.ts'
import { RUN_ROUTES } from './routes/run-routes.ts'
import { SERVICE_ROUTES } from './routes/service-routes.ts'
import { SESSION_ROUTES } from './routes/session-routes.ts'
import { TOKEN_ROUTES } from './routes/token-routes.ts'
import { TOOL_ROUTES } from './routes/tool-routes.ts'

/** Everything that is served: the app and the OpenAPI document are both made of it. */
export const ROUTES: readonly Route[] = [
  ...CALL_ROUTES,
  ...TOOL_ROUTES,
  ...RUN_ROUTES,
  ...ARTIFACT_ROUTES,
  ...ASK_ROUTES,
  ...ANSWER_ROUTES,
  ...GRANT_ROUTES,
  ...POLICY_ROUTES,
  ...EVENT_ROUTES,
  ...TOKEN_ROUTES,
  ...SESSION_ROUTES,
  ...SERVICE_ROUTES,
  ...MCP_ROUTES,
]
