import { expect, it } from 'vitest'
import { CLOSE_CODES, WS_LIMITS } from './messages.ts'

it('the limits are those that clients receive', () => {
  expect(WS_LIMITS).toEqual({
    connections: 20_000,
    connectionsEach: 1_000,
    messageBytes: 10_485_760,
    messageEntries: 50_000,
    callsInFlight: 256,
    keptMessages: 1_000,
    keptBytes: 8_388_608,
    bufferedBytes: 16_777_216,
    stalledMs: 30_000,
    sessionMs: 120_000,
    silenceMs: 30_000,
    badMessages: 20,
    waitingSessions: 1_000,
    waitingBytes: 67_108_864,
  })
})

it('clients know why they were closed by these codes', () => {
  expect(CLOSE_CODES).toEqual({ badMessages: 4400, notAdmitted: 4401, tooSlow: 4408, takenOver: 4409 })
})
