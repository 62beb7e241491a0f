import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { IconButton } from './icon-button.tsx'
import { showToast } from './show-toast.ts'

/** Copies a text, and says that it did. */
export function CopyButton({ text, label = 'Copy' }: { text: string | (() => string); label?: string }) {
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), 1_500)
    return () => clearTimeout(timer)
  }, [isCopied])
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : text())
      setCopied(true)
    } catch {
      // Browsers give the clipboard only to pages of https and localhost.
      showToast({
        tone: 'bad',
        title: 'Not copied',
        description: 'The browser does not allow it here; select it instead.',
      })
    }
  }
  return <IconButton size="small" icon={isCopied ? Check : Copy} label={isCopied ? 'Copied' : label} onClick={copy} />
}
