export { ClientConnection, type ClientConnectionOptions, connectClient } from './connect-client.ts'
