import { expect, it } from 'vitest'
import { PageEventQueue } from './tab.ts'

it('tells each thing once', () => {
  const events = new PageEventQueue()
  expect(events.take()).toEqual({})
  events.dialog('alert dismissed: hi')
  events.refused('http://a.example/', 'no')
  events.opened('t2')
  events.popupClosed()
  events.popupClosed()
  events.downloadStopped()
  expect(events.take()).toEqual({
    dialogs: ['alert dismissed: hi'],
    refused: ['http://a.example/: no'],
    refusedCount: 1,
    opened: ['t2'],
    popupsClosed: 2,
    downloadsStopped: 1,
  })
  expect(events.take()).toEqual({})
})

it('tells five dialogs and refusals, the same refusal once, and counts all', () => {
  const events = new PageEventQueue()
  for (const number of [1, 1, 2, 3, 4, 5, 6]) {
    events.dialog(`d${number}`)
    events.refused(`u${number}`, 'no')
  }
  expect(events.take()).toEqual({
    dialogs: ['d1', 'd1', 'd2', 'd3', 'd4'],
    refused: ['u1: no', 'u2: no', 'u3: no', 'u4: no', 'u5: no'],
    refusedCount: 7,
  })
})

it('tells 300 characters of what a page says, and 50 tabs', () => {
  const events = new PageEventQueue()
  events.dialog('d'.repeat(301))
  events.refused('u'.repeat(301), 'w'.repeat(301))
  for (let tab = 1; tab <= 51; tab += 1) events.opened(`t${tab}`)
  const { dialogs, refused, opened } = events.take()
  expect([dialogs, refused]).toEqual([['d'.repeat(300)], [`${'u'.repeat(300)}: ${'w'.repeat(300)}`]])
  expect([opened?.length, opened?.at(0), opened?.at(-1)]).toEqual([50, 't1', 't50'])
})
