import type { Screen } from '../shared/screens.js';

/** The screens of the holder of a key, in the order of their list. */
export const CUSTOMER_SCREENS: readonly Screen[] = [
  { path: '/', name: 'Home', load: () => import('./home.js') },
  { path: '/playground', name: 'Playground', load: () => import('./playground.js') },
  {
    path: '/calls',
    name: 'Calls and tasks',
    within: ['/calls', '/tasks'],
    load: () => import('./calls.js'),
  },
  { path: '/calls/:id', load: () => import('./call.js') },
  { path: '/tasks', load: () => import('./tasks.js') },
  { path: '/tasks/:id', load: () => import('./task.js') },
  { path: '/usage', name: 'Usage', load: () => import('./usage.js') },
  { path: '/keys', name: 'Keys', load: () => import('./keys.js') },
  { path: '/webhooks', name: 'Webhooks', load: () => import('./webhooks.js') },
  { path: '/models', name: 'Models', load: () => import('./models.js') },
  { path: '/models/:id', load: () => import('./model.js') },
  {
    path: '/statements',
    name: 'Statements',
    within: ['/statements', '/ledger'],
    load: () => import('./statements.js'),
  },
  { path: '/statements/:month', load: () => import('./statement.js') },
  { path: '/ledger', load: () => import('./ledger.js') },
];
