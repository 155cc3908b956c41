import { Link } from 'wouter-preact';

const TABS = [
  ['/models', 'Models'],
  ['/price-changes', 'Changes of prices'],
  ['/catalog-check', 'Check a file'],
  ['/price-books', 'Price books'],
] as const;

type PriceTab = (typeof TABS)[number][0];

/** Between what is about models and prices. */
export function PriceTabs({ open }: { readonly open: PriceTab }) {
  return (
    <nav class="tabs" aria-label="Models and prices">
      {TABS.map(([path, name]) => (
        <Link href={path} aria-current={open === path ? 'page' : undefined}>
          {name}
        </Link>
      ))}
    </nav>
  );
}

/** Where the page of a model is. */
export const pageOfModel = (id: string): string => `/models/${encodeURIComponent(id)}`;
