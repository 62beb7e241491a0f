export { createPrincipalLookup } from './create-token-manager.ts'
export { createTokenRegister, type TokenRegister } from './create-token-register.ts'
