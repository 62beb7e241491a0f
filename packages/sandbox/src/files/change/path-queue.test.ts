import { expect, it } from 'vitest'
import { createPathQueue } from './change-scope.ts'

function recorder() {
  const order: string[] = []
  const job =
    (name: string, fails = false) =>
    async () => {
      order.push(`${name} starts`)
      await new Promise(setImmediate)
      order.push(`${name} ends`)
      if (fails) throw new Error(name)
    }
  return { order, job }
}

it('runs jobs of one path in order, also after one that failed', async () => {
  const queue = createPathQueue()
  const { order, job } = recorder()
  const results = await Promise.allSettled([queue(['/a'], job('one', true)), queue(['/a'], job('two'))])
  expect(order).toEqual(['one starts', 'one ends', 'two starts', 'two ends'])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
})

it('lets a folder wait for what is below it, and the other way round', async () => {
  const queue = createPathQueue()
  const { order, job } = recorder()
  await Promise.all([queue(['/a/b'], job('file')), queue(['/a'], job('folder')), queue(['/a/c'], job('later'))])
  expect(order).toEqual(['file starts', 'file ends', 'folder starts', 'folder ends', 'later starts', 'later ends'])
})

it('does not let one path wait for another, nor for one that only begins alike', async () => {
  const queue = createPathQueue()
  let release = () => {}
  const first = queue(['/a'], () => new Promise<void>((resolve) => (release = resolve)))
  await Promise.all([queue(['/b'], async () => {}), queue(['/a2'], async () => {})])
  release()
  await first
})

it('cannot be locked by jobs that want the same paths in another order', async () => {
  const queue = createPathQueue()
  const { order, job } = recorder()
  await Promise.all([queue(['/a', '/b'], job('one')), queue(['/b', '/a'], job('two')), queue(['/b'], job('three'))])
  expect(order.filter((text) => text.endsWith('starts'))).toEqual(['one starts', 'two starts', 'three starts'])
})

it('lets a job that was stopped leave immediately, and nobody pass too early for it', async () => {
  const queue = createPathQueue()
  const { order, job } = recorder()
  const stop = new AbortController()
  let release = () => {}
  const first = queue(['/a'], () => new Promise<void>((resolve) => (release = resolve)))
  const stopped = queue(['/a', '/b'], job('stopped'), () => stop.signal)
  const beside = queue(['/b'], job('beside'))
  const behind = queue(['/a'], job('behind'), () => new AbortController().signal)
  stop.abort()
  await expect(stopped).rejects.toMatchObject({ code: 'ABORTED' })
  await beside
  expect(order).toEqual(['beside starts', 'beside ends'])
  release()
  await Promise.all([first, behind])
  expect(order.slice(2)).toEqual(['behind starts', 'behind ends'])
  const late = queue(['/c'], () => new Promise<void>((resolve) => (release = resolve)))
  await expect(queue(['/c'], job('never'), () => stop.signal)).rejects.toMatchObject({ code: 'ABORTED' })
  release()
  await late
})
