import type { Screen } from '../shared/screens.js';

/** The screens of an operator, in the order of their list. */
export const OPERATOR_SCREENS: readonly Screen[] = [
  { path: '/', name: 'Today', load: () => import('./today.js') },
  { path: '/find', load: () => import('./find.js') },
];
