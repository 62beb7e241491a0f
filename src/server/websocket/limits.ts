/** What those who are connected may use, all together and each. */
export interface WsLimits {
  readonly connections: number
  /** Of one principal. */
  readonly connectionsEach: number
  /** Of one message. */
  readonly messageBytes: number
  /** Keys and elements of one message, counted before it is parsed. */
  readonly messageEntries: number
  /** Of one session. */
  readonly callsInFlight: number
  /** Messages of a session that were not acknowledged. */
  readonly keptMessages: number
  readonly keptBytes: number
  /** Written and not read by the other side. */
  readonly bufferedBytes: number
  /** How long somebody may be too slow. */
  readonly stalledMs: number
  /** How long a session lives without a connection. */
  readonly sessionMs: number
  /** After so long a silence a connection is asked whether it lives; after as long again it does not. */
  readonly silenceMs: number
  readonly badMessages: number
  /** Sessions of one principal that wait for their connection, and what they keep together. */
  readonly waitingSessions: number
  readonly waitingBytes: number
}

const MIB = 1_048_576

export const WS_LIMITS: WsLimits = {
  connections: 20_000,
  connectionsEach: 1_000,
  messageBytes: 10 * MIB,
  messageEntries: 50_000,
  callsInFlight: 256,
  keptMessages: 1_000,
  keptBytes: 8 * MIB,
  bufferedBytes: 16 * MIB,
  stalledMs: 30_000,
  sessionMs: 120_000,
  silenceMs: 30_000,
  badMessages: 20,
  waitingSessions: 1_000,
  waitingBytes: 64 * MIB,
}

/** Why the server closes a connection; those of the protocol itself are 1000 (goodbye) and 1001 (the server stops). */
export const CLOSE_CODES = {
  badMessages: 4400,
  notAdmitted: 4401,
  tooSlow: 4408,
  takenOver: 4409,
} as const
