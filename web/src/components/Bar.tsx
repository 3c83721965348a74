import { Component, createRef, type ReactNode } from "react";

const stops = "button:not([hidden]), a[href], input";

interface Props { className: string; children: ReactNode }

/**
 * Buttons of which one can give way to another, as Stop does to Start. A button that is replaced takes the focus with it and says nothing, so it is
 * asked for in the moment before: the focus then goes to what took its place, or to the last one.
 */
export class Bar extends Component<Props> {
  readonly #bar = createRef<HTMLDivElement>();

  #stops(): HTMLElement[] {
    return [...(this.#bar.current?.querySelectorAll<HTMLElement>(stops) ?? [])];
  }

  override getSnapshotBeforeUpdate(): number {
    return this.#stops().findIndex((each) => each === document.activeElement);
  }

  override componentDidUpdate(_props: Props, _state: unknown, at: number): void {
    if (at < 0 || document.activeElement !== document.body) return;
    const there = this.#stops();
    there[Math.min(at, there.length - 1)]?.focus();
  }

  override render(): ReactNode {
    return <div ref={this.#bar} className={this.props.className}>{this.props.children}</div>;
  }
}
