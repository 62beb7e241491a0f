export { createPrincipalLookup } from './token-manager.ts'
export { createTokenRegister, type TokenRegister } from './token-register.ts'
