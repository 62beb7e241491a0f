import type { MemoryScope } from '../core/index.ts'
import type {
  AgentEntry,
  AgentHistory,
  AgentStatus,
  CanvasDetail,
  CanvasList,
  ChannelEntry,
  InboxPage,
  MemoryCandidateEntry,
  MemoryNoteEntry,
  NewScheduleBody,
  ScheduleChangeBody,
  ScheduleEntry,
  ScheduleRunEntry,
} from '../protocol/index.ts'
import { at } from './at.ts'
import type { HttpRequests } from './http-requests.ts'

/** What agents have beside tools, by kind. */
export type FeatureResources = ReturnType<typeof askAbilities>

/** The requests for each of them. */
export function askAbilities(http: HttpRequests) {
  return {
    agents: {
      /** Newest first; `principal` is whom they work for. */
      list: (filter: { principal?: string; state?: AgentEntry['state']; before?: string; limit?: number } = {}) =>
        http.json<{ agents: AgentEntry[]; next?: string }>('GET', '/v1/agents', { query: filter }),
      /** One session with what it has used; rejects with `NOT_FOUND` if there is none. */
      get: (id: string) => http.json<AgentStatus>('GET', at('/v1/agents', id)),
      /** A part of what happened in it, oldest first; the newest part unless `before` says. */
      history: (id: string, page: { before?: string; limit?: number } = {}) =>
        http.json<AgentHistory>('GET', `${at('/v1/agents', id)}/history`, { query: page }),
      /** Writes to it as the owner; `status` says whether it still works. */
      send: (id: string, text: string) =>
        http.json<{ status: string }>('POST', `${at('/v1/agents', id)}/messages`, { body: { text } }),
      /** `ended` is false when it was over before. */
      end: (id: string, reason?: string) =>
        http.json<{ ended: boolean }>('POST', `${at('/v1/agents', id)}/end`, { body: { reason } }),
    },
    canvases: {
      /** Newest first. */
      list: (filter: { run?: string; hidden?: boolean; before?: number; limit?: number } = {}) =>
        http.json<CanvasList>('GET', '/v1/canvases', { query: filter }),
      /** One canvas with its versions; rejects with `NOT_FOUND` if there is none. */
      get: (id: string) => http.json<CanvasDetail>('GET', at('/v1/canvases', id)),
      /** Takes it out of people's sight; it stays on record. */
      hide: (id: string) => http.json<void>('POST', `${at('/v1/canvases', id)}/hide`),
    },
    inbox: {
      /** Newest first. */
      list: ({ unread, ...page }: { unread?: boolean; before?: string; limit?: number } = {}) =>
        http.json<InboxPage>('GET', '/v1/inbox', { query: { ...page, unread: unread || undefined } }),
      /** Without ids, all of them. */
      read: (ids?: readonly string[]) =>
        http.json<{ read: number; unread: number }>('POST', '/v1/inbox/read', { body: { ids } }),
      /** The ways to people, and what keeps one from working. */
      channels: async () => (await http.json<{ channels: ChannelEntry[] }>('GET', '/v1/channels')).channels,
    },
    memory: {
      /** Best first with a query, else newest first. */
      notes: (filter: { query?: string; scope?: MemoryScope; before?: number; limit?: number } = {}) =>
        http.json<{ notes: MemoryNoteEntry[]; next?: number }>('GET', '/v1/memory/notes', { query: filter }),
      /** Removes a note; rejects with `NOT_FOUND` if there is none. */
      forget: async (id: string) => void (await http.send('DELETE', at('/v1/memory/notes', id))),
      /** What waits for review, newest first, and how notes are written here. */
      candidates: () =>
        http.json<{ candidates: MemoryCandidateEntry[]; memory: { enabled: boolean; writeMode: string } }>(
          'GET',
          '/v1/memory/candidates',
          { query: { limit: 100 } },
        ),
      /** What is said takes the place of what was written. CONFLICT when it was decided before. */
      promote: (id: string, change: { scope?: MemoryScope; tags?: string[]; content?: string } = {}) =>
        http.json<{ note: MemoryNoteEntry }>('POST', `${at('/v1/memory/candidates', id)}/promote`, { body: change }),
      /** Decides that it does not become a note. CONFLICT when it was decided before. */
      reject: async (id: string, reason?: string) =>
        void (await http.json('POST', `${at('/v1/memory/candidates', id)}/reject`, { body: { reason } })),
    },
    schedules: {
      /** By name. */
      list: () =>
        http.json<{ schedules: ScheduleEntry[]; status: { isTicking: boolean; problems: string[] } }>(
          'GET',
          '/v1/schedules',
        ),
      /** Makes a schedule. CONFLICT when the name is taken. */
      add: (schedule: NewScheduleBody) => http.json<ScheduleEntry>('POST', '/v1/schedules', { body: schedule }),
      /** Changes a schedule; what is absent stays. */
      change: (id: string, change: ScheduleChangeBody) =>
        http.json<ScheduleEntry>('PUT', at('/v1/schedules', id), { body: change }),
      /** Removes a schedule with what is known of its runs. */
      remove: async (id: string) => void (await http.send('DELETE', at('/v1/schedules', id))),
      /** Begins a run now. */
      run: (id: string) => http.json<ScheduleRunEntry>('POST', `${at('/v1/schedules', id)}/run`),
      /** Newest first. */
      runs: (id: string, page: { before?: number; limit?: number } = {}) =>
        http.json<{ runs: ScheduleRunEntry[]; next?: number }>('GET', `${at('/v1/schedules', id)}/runs`, {
          query: page,
        }),
      /** The next times of one of cron, every and at. */
      times: (when: { cron?: string; every?: string; at?: string; timeZone?: string }) =>
        http.json<{ timeZone: string; times: number[] }>('GET', '/v1/schedule-times', { query: when }),
    },
  }
}
