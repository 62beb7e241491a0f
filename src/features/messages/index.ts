export { createMessages } from './create-messages.ts'
