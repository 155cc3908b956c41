import { Tabs } from '../shared/tabs.js';

const TABS = [
  ['/models', 'Models'],
  ['/price-changes', 'Changes of prices'],
  ['/catalog-check', 'Check a file'],
  ['/price-books', 'Price books'],
] as const;

/** Between what is about models and prices. */
export const PriceTabs = ({ open }: { readonly open: (typeof TABS)[number][0] }) => (
  <Tabs name="Models and prices" of={TABS} open={open} />
);
