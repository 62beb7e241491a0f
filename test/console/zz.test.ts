import { it } from 'vitest'
import { useConsole } from '../support/console-page.ts'
const web = useConsole()
it('must fail: inline style', async () => { const page = await web.open('/live'); await page.evaluate(`(() => { const d = document.createElement('div'); d.innerHTML = '<b style="color:red">x</b>'; document.body.append(d) })()`); await page.getByText('x', {exact: true}).waitFor() })
it('must fail: foreign', async () => { const page = await web.open('/live'); await page.evaluate(`fetch('http://127.0.0.1:9/x').catch(() => 0)`) })
it('must fail: uncaught', async () => { const page = await web.open('/live'); await page.evaluate(`new Promise(r => setTimeout(() => { setTimeout(r, 50); throw new Error('boo') }))`) })
