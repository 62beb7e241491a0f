import { expect, it } from 'vitest'
import { PageEventQueue } from './page-news.ts'

it('tells each thing once', () => {
  const news = new PageEventQueue()
  expect(news.take()).toEqual({})
  news.dialog('alert dismissed: hi')
  news.refused('http://a.example/', 'no')
  news.opened('t2')
  news.popupClosed()
  news.popupClosed()
  news.downloadStopped()
  expect(news.take()).toEqual({
    dialogs: ['alert dismissed: hi'],
    refused: ['http://a.example/: no'],
    refusedCount: 1,
    opened: ['t2'],
    popupsClosed: 2,
    downloadsStopped: 1,
  })
  expect(news.take()).toEqual({})
})

it('tells five dialogs and refusals, the same refusal once, and counts all', () => {
  const news = new PageEventQueue()
  for (const number of [1, 1, 2, 3, 4, 5, 6]) {
    news.dialog(`d${number}`)
    news.refused(`u${number}`, 'no')
  }
  expect(news.take()).toEqual({
    dialogs: ['d1', 'd1', 'd2', 'd3', 'd4'],
    refused: ['u1: no', 'u2: no', 'u3: no', 'u4: no', 'u5: no'],
    refusedCount: 7,
  })
})

it('tells 300 characters of what a page says, and 50 tabs', () => {
  const news = new PageEventQueue()
  news.dialog('d'.repeat(301))
  news.refused('u'.repeat(301), 'w'.repeat(301))
  for (let tab = 1; tab <= 51; tab += 1) news.opened(`t${tab}`)
  const { dialogs, refused, opened } = news.take()
  expect([dialogs, refused]).toEqual([['d'.repeat(300)], [`${'u'.repeat(300)}: ${'w'.repeat(300)}`]])
  expect([opened?.length, opened?.at(0), opened?.at(-1)]).toEqual([50, 't1', 't50'])
})
