import { describe, expect, it } from 'vitest'
import { GroupCommit } from './durable-writes.ts'

/** A commit that ends when the test says so. */
function heldCommit() {
  const running: Array<{ resolve: () => void; reject: (error: Error) => void }> = []
  const group = new GroupCommit(() => new Promise((resolve, reject) => running.push({ resolve, reject })))
  return { group, running }
}

const tick = () => new Promise((resolve) => setImmediate(resolve))

describe('GroupCommit', () => {
  it('runs one commit at a time; all who come meanwhile share the next', async () => {
    const { group, running } = heldCommit()
    const first = [group.wait(), group.wait()]
    await tick()
    expect(running).toHaveLength(1)
    const second = [group.wait(), group.wait(), group.wait()]
    await tick()
    expect(running).toHaveLength(1)
    running[0]!.resolve()
    await Promise.all(first)
    await tick()
    expect(running).toHaveLength(2)
    running[1]!.resolve()
    await Promise.all(second)
  })

  it('tells a failure to those it concerns, and tries again for the others', async () => {
    const { group, running } = heldCommit()
    const first = group.wait()
    await tick()
    const second = group.wait()
    running[0]!.reject(new Error('full'))
    await expect(first).rejects.toThrow('full')
    await tick()
    running[1]!.resolve()
    await expect(second).resolves.toBeUndefined()
  })
})
