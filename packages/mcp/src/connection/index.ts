export { type KnownServer, type ProtocolEra, resolveOAuth, START_TIMEOUT_MS } from './connect.ts'
export { McpConnection } from './connection.ts'
