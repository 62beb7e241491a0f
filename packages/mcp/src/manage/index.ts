/** What the command line does with servers: test them, sign in to them, and accept what they changed. */
export { resolveOAuth } from '../connection/index.ts'
export { Pins } from '../pins.ts'
export { signInToServer, signOut } from './sign-in.ts'
export { type ReportedTool, type ServerReport, testServer } from './test-server.ts'
