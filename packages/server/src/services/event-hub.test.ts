import { describe, expect, it } from 'vitest'
import type { ServiceEvent } from '../../../core/src/protocol/service.ts'
import type { StoredEvent } from '../../../core/src/store/shared.ts'
import type { IndexedCall } from '../../../core/src/store.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { createEventHub } from './event-hub.ts'

function setUp() {
  const clock = fakeClock()
  let call: (call: IndexedCall) => void = () => {}
  let changeTools = () => {}
  let tell: (event: StoredEvent) => void = () => {}
  const events = createEventHub({
    clock,
    indexer: {
      onCall(listener) {
        call = listener
        return () => {
          call = () => {}
        }
      },
    },
    store: {
      events: {
        watch(listener) {
          tell = listener
          return () => {}
        },
      },
    },
    hub: {
      onToolsChanged(listener) {
        changeTools = listener
        return () => {}
      },
    },
  })
  const happen = (callId: string) =>
    call({ callId, run: 'r', seq: 1, tool: 't', caller: 'a\u200bda', status: 'ok', startedAt: 1 })
  const hear = (topic: string, body: string) => tell({ seq: 1, topic, body, at: 0 })
  return { events, clock, happen, hear, changeTools: () => changeTools() }
}

/** What a subscriber hears, as `c-1` or the type. */
function listen() {
  const heard: { event: ServiceEvent; id: string }[] = []
  const names = () => heard.map(({ event }) => (event.type === 'call' ? event.call.callId : event.type))
  return { heard, names, listener: (event: ServiceEvent, id: string) => void heard.push({ event, id }) }
}

describe('createEventHub', () => {
  it('tells what has changed of an feature, and nothing that another process made up', () => {
    const { events, hear } = setUp()
    const heard: ServiceEvent[] = []
    events.subscribe((event) => heard.push(event))
    hear('feature', JSON.stringify({ feature: 'canvas', subject: 'c1' }))
    hear('feature', JSON.stringify({ feature: 'teleport', subject: 'c1' }))
    hear('feature', 'no json')
    hear('other', JSON.stringify({ feature: 'canvas', subject: 'c1' }))
    expect(heard).toEqual([{ type: 'feature-changed', feature: 'canvas', subject: 'c1' }])
    events.close()
  })

  it('tells calls as they happen, fit to be seen, to everybody until they stop', () => {
    const { events, happen } = setUp()
    const [ada, bob] = [listen(), listen()]
    const stop = events.subscribe(ada.listener)
    events.subscribe(bob.listener)
    happen('c-1')
    stop()
    happen('c-2')
    expect(ada.names()).toEqual(['c-1'])
    expect(bob.names()).toEqual(['c-1', 'c-2'])
    expect(bob.heard[0]?.event).toMatchObject({ type: 'call', call: { caller: 'a\\u{200b}da' } })
  })

  it('continues after the last event that was received', () => {
    const { events, happen } = setUp()
    const first = listen()
    const stop = events.subscribe(first.listener)
    happen('c-1')
    stop()
    happen('c-2')
    events.publish({ type: 'policy-changed' })
    const again = listen()
    events.subscribe(again.listener, { after: first.heard[0]!.id })
    happen('c-3')
    expect(again.names()).toEqual(['c-2', 'policy-changed', 'c-3'])
    expect(new Set(again.heard.map(({ id }) => id)).size).toBe(3)
  })

  it('says reset when what came between is gone, or the id is of another start', () => {
    const { events, happen } = setUp()
    const first = listen()
    events.subscribe(first.listener)()
    const early = listen()
    const stop = events.subscribe(early.listener)
    happen('c-0')
    stop()
    for (let number = 1; number <= 5_001; number++) happen(`c-${number}`)
    const foreign = '000000000000-3'
    for (const after of [early.heard[0]!.id, foreign, 'nonsense', `${early.heard[0]!.id.slice(0, 12)}-999999`]) {
      const late = listen()
      events.subscribe(late.listener, { after })()
      expect(late.names()).toEqual(['reset'])
    }
  })

  it('can go on from the id of a reset, and keeps the last 5,000', () => {
    const { events, happen } = setUp()
    const lost = listen()
    events.subscribe(lost.listener, { after: 'nonsense' })()
    for (let number = 1; number <= 5_000; number++) happen(`c-${number}`)
    const late = listen()
    events.subscribe(late.listener, { after: lost.heard[0]!.id })
    expect(late.names()).toHaveLength(5_000)
    expect(late.names()[0]).toBe('c-1')
  })

  it('tells only the types that are wanted', () => {
    const { events, happen } = setUp()
    const ada = listen()
    events.subscribe(ada.listener, { types: ['policy-changed'] })
    happen('c-1')
    events.publish({ type: 'policy-changed' })
    expect(ada.names()).toEqual(['policy-changed'])
  })

  it('takes off a listener that throws, and tells the others', () => {
    const { events, happen } = setUp()
    let asked = 0
    events.subscribe(() => {
      asked++
      throw new Error('gone')
    })
    const bob = listen()
    events.subscribe(bob.listener)
    happen('c-1')
    happen('c-2')
    expect(asked).toBe(1)
    expect(bob.names()).toEqual(['c-1', 'c-2'])
  })

  it('tells once that tools have changed, however many did', async () => {
    const { events, clock, changeTools } = setUp()
    const ada = listen()
    events.subscribe(ada.listener)
    for (let count = 0; count < 5; count++) changeTools()
    await clock.advance(100)
    changeTools()
    await clock.advance(100)
    expect(ada.names()).toEqual(['tools-changed', 'tools-changed'])
  })
})
