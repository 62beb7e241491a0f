import { expect, it } from 'vitest'
import { explainFailure } from './explain-failure.ts'

const NOT_MAPPED = 'bwrap: setting up uid map: Permission denied'

it.each([
  [NOT_MAPPED, { 'kernel/unprivileged_userns_clone': '0' }, false, 'sysctl kernel.unprivileged_userns_clone=1'],
  [NOT_MAPPED, { 'user/max_user_namespaces': '0' }, false, 'sysctl user.max_user_namespaces'],
  [NOT_MAPPED, { 'kernel/apparmor_restrict_unprivileged_userns': '1' }, false, 'AppArmor'],
  ['unshare: unshare failed: Operation not permitted', {}, true, 'The container does not allow user namespaces'],
  [NOT_MAPPED, {}, false, 'The kernel or a security module'],
  ["bwrap: Can't mount proc on /newroot/proc: Operation not permitted", {}, true, 'systempaths=unconfined'],
  ['bwrap: Unknown option --disable-userns', {}, false, 'older than 0.8'],
])('says of %j with %j what to do', (why, switches, isContainer, expected) => {
  const readSwitch = (name: string) => new Map(Object.entries(switches)).get(name)
  expect(explainFailure(why, { readSwitch, isContainer })).toContain(expected)
})

it('adds nothing to what it does not know', () => {
  expect(explainFailure('A command could write outside.', { isContainer: true })).toBe('A command could write outside.')
})
