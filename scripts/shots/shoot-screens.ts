import type { Page } from 'playwright-core';
import type { Browser } from '../../test/support/browser.js';
import type { SeededIds } from './play-present.js';
import { SHOTS_TOKEN } from './shots-gateway.js';

const WIDTHS = [1_280, 390] as const;
const THEMES = ['light', 'dark'] as const;
const HEIGHT = 900;
const PATIENCE_MS = 30_000;
/** Charts are drawn after the numbers have come. */
const SETTLED_MS = 400;

/** A screen as the tables of the console name it. */
interface ScreenRow {
  readonly path: string;
}
interface ShotScreen {
  readonly name: string;
  readonly path: string;
}

/** The rows of the console's own table of screens. */
async function rowsOf(side: 'operator' | 'customer'): Promise<readonly ScreenRow[]> {
  const file = new URL(`../../console/src/${side}/screens.ts`, import.meta.url);
  const table = (await import(file.href)) as Record<string, readonly ScreenRow[]>;
  return table[`${side.toUpperCase()}_SCREENS`] ?? [];
}

/** Each screen with its address and the name of its pictures; throws for one with an id that nothing here stands for. */
export function screensToShoot(
  side: string,
  rows: readonly ScreenRow[],
  ids: SeededIds,
): readonly ShotScreen[] {
  const known: Readonly<Record<string, string>> = {
    '/accounts/:id': ids.account,
    '/calls/:id': ids.call,
    '/tasks/:id': ids.task,
    '/deliveries/:id': ids.delivery,
    '/models/:id': 'gen-5',
    '/price-books/:id': 'partners',
    '/providers/:id': 'openai',
    '/statements/:month': ids.month,
  };
  return rows.map(({ path }) => {
    const filled = path.replace(/:\w+\??/, () => {
      const id = known[path];
      if (id === undefined) {
        throw new Error(
          `The screen ${path} needs an id: add its row to \`known\` in scripts/shots/shoot-screens.ts.`,
        );
      }
      return id;
    });
    const address = path === '/find' ? `/find?id=${ids.call}` : filled;
    const name = path.replaceAll(/^\/|:/g, '').replaceAll('/', '-') || 'first';
    return { name: `${side}-${name}`, path: address };
  });
}

async function signIn(page: Page, url: string, label: RegExp, secret: string): Promise<void> {
  await page.context().clearCookies();
  await page.goto(`${url}/console/`);
  await page.getByLabel(label).fill(secret);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

/** Takes the pictures of all screens, or of those whose names have one of the words; answers how many. */
export async function shootScreens(
  url: string,
  { context }: Browser,
  ids: SeededIds,
  folder: string,
  words: readonly string[],
): Promise<number> {
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const isWanted = ({ name }: ShotScreen) =>
    words.length === 0 || words.some((word) => name.includes(word));
  let count = 0;
  const shootAll = async (screens: readonly ShotScreen[]) => {
    for (const screen of screens.filter(isWanted)) {
      for (const theme of THEMES) {
        await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
        await page.goto(`${url}/console${screen.path}`);
        await page.getByRole('heading', { level: 1 }).first().waitFor();
        await page.waitForLoadState('networkidle');
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: HEIGHT });
          await page.waitForTimeout(SETTLED_MS);
          const path = `${folder}/${screen.name}-${width}-${theme}.png`;
          await page.screenshot({ path, fullPage: true });
          count += 1;
        }
      }
    }
  };
  const tables = { operator: await rowsOf('operator'), customer: await rowsOf('customer') };
  await shootAll([{ name: 'sign-in', path: '/' }]);
  await signIn(page, url, /^Operator token/, SHOTS_TOKEN);
  await shootAll(screensToShoot('operator', tables.operator, ids));
  await signIn(page, url, /^API key/, ids.key);
  await shootAll(screensToShoot('customer', tables.customer, ids));
  await page.close();
  return count;
}
