type Child = Node | string | undefined | false

/** An element with its properties and children; what is `undefined` or false is left out. */
export function el<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Readonly<Record<string, string | undefined>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined) element.setAttribute(key, value)
  for (const child of children) if (child !== undefined && child !== false) element.append(child)
  return element
}

const SVG = 'http://www.w3.org/2000/svg'

/** The same for SVG. */
export function svg(name: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const element = document.createElementNS(SVG, name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value))
  return element
}

/** An element of the page that is there from the start. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id)
  if (element === null) throw new Error(`the page has no #${id}`)
  return element
}

/** Sets text only where it is another: nothing is laid out anew for nothing. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text
}

/** Replaces what an element shows when what it is made of has changed. */
export function redraw(element: HTMLElement, made: unknown, draw: () => readonly Node[]): void {
  const key = JSON.stringify(made)
  if (element.dataset.made === key) return
  element.dataset.made = key
  element.replaceChildren(...draw())
}
