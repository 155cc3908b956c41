/** What somebody does at the page. */
const ACTS = ['pointerdown', 'keydown', 'wheel', 'touchstart'] as const;
/** Longer than the time between two checks of the session, so that one of them tells of each act. */
const RECENT_MS = 90_000;

let lastActMs = Date.now();

/** Notes from now on when somebody last did something here. Opening the page is an act too. */
export function noteActs(): void {
  for (const act of ACTS) {
    addEventListener(
      act,
      () => {
        lastActMs = Date.now();
      },
      { capture: true, passive: true },
    );
  }
}

/**
 * The header of a request of a page that nobody has touched for a while: it asks by itself, so the request does not count as use
 * of the session.
 */
export const pollHeader = (): Readonly<Record<string, string>> =>
  Date.now() - lastActMs > RECENT_MS ? { 'x-console-poll': '1' } : {};
