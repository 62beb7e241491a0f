import type { ComponentProps } from 'react'
import { Dialog } from './dialog.tsx'

/** Details at the right side of the page; the whole width on a phone. */
export function Drawer(props: Omit<ComponentProps<typeof Dialog>, 'placement'>) {
  return <Dialog placement="drawer" {...props} />
}
