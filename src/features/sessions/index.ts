export { createSessions } from './create-sessions.ts'
