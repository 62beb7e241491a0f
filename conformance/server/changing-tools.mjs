import { fixture } from './fixture.mjs'

/** A source that brings a tool and takes it away again, each time that its other tool is called. */
export function changingTools() {
  let isThere = false
  const extra = fixture('test_extra_tool', 'Comes and goes.', () => 'It is there.')
  return {
    name: 'changing',
    start(host) {
      const trigger = fixture('test_trigger_tool_change', 'Changes the list of tools.', () => {
        isThere = !isThere
        host.offer(isThere ? [trigger, extra] : [trigger])
        return 'Changed.'
      })
      host.offer([trigger])
    },
  }
}
