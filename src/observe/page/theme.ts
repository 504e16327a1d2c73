import { byId, setText } from './dom.ts'

const THEMES = ['auto', 'light', 'dark'] as const
const NAMES = { auto: 'Auto', light: 'Light', dark: 'Dark' }
const KEY = 'warren-theme'

/** Follows the system until somebody chooses otherwise; remembers the choice. */
export function startTheme(): void {
  const button = byId('theme')
  const set = (theme: (typeof THEMES)[number]) => {
    document.documentElement.dataset.theme = theme
    setText(button, NAMES[theme])
    localStorage.setItem(KEY, theme)
  }
  set(THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? 'auto')
  button.addEventListener('click', () => {
    const at = THEMES.indexOf(document.documentElement.dataset.theme as 'auto')
    set(THEMES[(at + 1) % THEMES.length] ?? 'auto')
  })
}
