/** The screens of what has an id that begins with its kind. */
const SCREENS: Readonly<Record<string, string>> = {
  ...{ acct: '/accounts/', exec: '/calls/', task: '/tasks/', whd: '/deliveries/' },
};
const PUBLIC_ID = /^([a-z]+)_[0-9a-f]{32}$/;

/** The page of what has a public id; undefined where there is none. */
export function pageOf(id: string): string | undefined {
  const [, kind = ''] = PUBLIC_ID.exec(id) ?? [];
  const screen = SCREENS[kind];
  return screen && screen + id;
}

/** The page of a model, whose id may have any character. */
export const pageOfModel = (id: string): string => `/models/${encodeURIComponent(id)}`;

export const pageOfBook = (id: string): string => `/price-books/${encodeURIComponent(id)}`;

export const pageOfProvider = (id: string): string => `/providers/${encodeURIComponent(id)}`;
