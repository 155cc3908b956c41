import type { Screen } from '../shared/screens.js';

/** The screens of the holder of a key, in the order of their list. */
export const CUSTOMER_SCREENS: readonly Screen[] = [
  { path: '/', name: 'Home', load: () => import('./home.js') },
];
