import type { Screen } from '../shared/screens.js';

/** The screens of an operator, in the order of their list. */
export const OPERATOR_SCREENS: readonly Screen[] = [
  { path: '/', name: 'Today', load: () => import('./today.js') },
  { path: '/accounts', name: 'Accounts', load: () => import('./accounts.js') },
  { path: '/accounts/:id', load: () => import('./account.js') },
  {
    path: '/calls',
    name: 'Calls and tasks',
    within: ['/calls', '/tasks'],
    load: () => import('./calls.js'),
  },
  { path: '/calls/:id', load: () => import('./call.js') },
  { path: '/tasks', load: () => import('./tasks.js') },
  { path: '/tasks/:id', load: () => import('./task.js') },
  { path: '/decide', name: 'To decide', load: () => import('./decide.js') },
  { path: '/usage', name: 'Usage', load: () => import('./usage.js') },
  { path: '/margin', name: 'Margin', load: () => import('./margin.js') },
  {
    path: '/webhooks',
    name: 'Webhooks',
    within: ['/webhooks', '/deliveries'],
    load: () => import('./webhooks.js'),
  },
  { path: '/deliveries', load: () => import('./deliveries.js') },
  { path: '/deliveries/:id', load: () => import('./delivery.js') },
  { path: '/providers', name: 'Providers', load: () => import('./providers.js') },
  { path: '/providers/:id', load: () => import('./provider.js') },
  {
    path: '/models',
    name: 'Models and prices',
    within: ['/models', '/price-changes', '/catalog-check', '/price-books'],
    load: () => import('./models.js'),
  },
  { path: '/models/:id', load: () => import('./model.js') },
  { path: '/price-changes', load: () => import('./price-changes.js') },
  { path: '/catalog-check', load: () => import('./catalog-check.js') },
  { path: '/price-books', load: () => import('./price-books.js') },
  { path: '/price-books/:id', load: () => import('./price-book.js') },
  { path: '/acts', name: 'Who did what', load: () => import('./acts.js') },
  { path: '/find', load: () => import('./find.js') },
];
