import { describe, expect, it } from 'vitest'
import { assertRunId, assertToolName, didYouMean, groupOf, nearestNames, toWireName } from '../names.ts'

describe('tool names', () => {
  it('are letters, digits, _ and - in parts joined by / or .', () => {
    for (const name of ['exec', 'notes.save', 'core/fs.readText', 'mcp/git-hub.create_issue']) {
      expect(() => assertToolName(name)).not.toThrow()
    }
    for (const name of ['', ' ', 'a b', '.a', 'a.', 'a//b', '1a', 'a'.repeat(65), 'é', 'a\n', undefined, 1]) {
      expect(() => assertToolName(name)).toThrow(/is not a tool name/)
    }
  })

  it('have a wire form that every provider takes, and a group', () => {
    expect(toWireName('core/fs.readText')).toBe('core_fs_readText')
    expect(['core/fs.readText', 'notes.save', 'exec'].map(groupOf)).toEqual(['files', 'notes', 'exec'])
  })
})

describe('the nearest names', () => {
  const names = ['core/fs.readText', 'core/util.time.now', 'list', 'init']

  it('are found by a typo, a swap of letters, or the last part alone', () => {
    expect(nearestNames('core/util.time.nwo', names)[0]).toBe('core/util.time.now')
    expect(nearestNames('lsit', names)[0]).toBe('list')
    expect(nearestNames('readtext', names)[0]).toBe('core/fs.readText')
  })

  it('are none when nothing is near, and cost little for a huge name', () => {
    expect(nearestNames('quite something else', names)).toEqual([])
    expect(didYouMean('x'.repeat(1_000_000), names)).toBe('')
  })

  it('share most letters with what was written, however short that is', () => {
    const short = ['ls', 'x', 'core/fs.rm', 'exec', 'core/util.json']
    for (const wanted of ['天气', 'y', '', 'cat', 'find', '日报表']) expect(nearestNames(wanted, short)).toEqual([])
    expect(nearestNames('sl', short)).toEqual(['ls'])
    expect(nearestNames('exce', short)).toEqual(['exec'])
    expect(nearestNames('jsno', short)).toEqual(['core/util.json'])
    expect(nearestNames('mr', short)).toEqual(['core/fs.rm'])
  })
})

describe('run ids', () => {
  it('name one folder on every system', () => {
    for (const id of ['r', '1', 'run-20261115-093000-1a2b3c4d', 'a.b_c', 'x'.repeat(64)])
      expect(() => assertRunId(id)).not.toThrow()
    for (const id of ['', '.', '..', '.a', '-a', 'a/b', 'a\\b', 'a\0', 'a\n', 'é', 'x'.repeat(65), null, 5, 1n, {}])
      expect(() => assertRunId(id)).toThrow(
        expect.objectContaining({ code: 'CONFIG_INVALID', fix: expect.objectContaining({ key: 'run' }) }),
      )
  })
})
