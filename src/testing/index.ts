export { createNetworkGuard, type NetworkGuard, type NetworkGuardOptions } from '../guards/network/network-guard.ts'
export { type FakeClock, fakeClock } from './fake-clock.ts'
export { type TestHub, testHub } from './test-hub.ts'
export { toolContract } from './tool-contract.ts'
