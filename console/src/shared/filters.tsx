import type { TargetedEvent } from 'preact';
import { useSearchParams } from 'wouter-preact';

/** A filter of a list: its name is that of the parameter in the address and in the API. */
export interface Filter {
  readonly name: string;
  readonly label: string;
  /** The values to choose from; without them it is a text. */
  readonly choices?: readonly (readonly [string, string])[];
  readonly placeholder?: string;
}

/** The values of filters that are set, from the address. */
export function useFilters(filters: readonly Filter[]): Readonly<Record<string, string>> {
  const [params] = useSearchParams();
  const set = filters.flatMap(({ name }) => {
    const value = params.get(name);
    return value === null || value === '' ? [] : [[name, value] as const];
  });
  return Object.fromEntries(set);
}

/** Fields for filters. The address keeps what they say, so that it can be sent to somebody. */
export function Filters({ of, name }: { readonly of: readonly Filter[]; readonly name: string }) {
  const [params, setParams] = useSearchParams();
  const set = (field: string) => (event: TargetedEvent<HTMLInputElement | HTMLSelectElement>) => {
    const next = new URLSearchParams(params);
    const value = event.currentTarget.value.trim();
    if (value === '') next.delete(field);
    else next.set(field, value);
    setParams(next);
  };
  return (
    <search aria-label={name} class="filters">
      {of.map((filter) => (
        <label class="field">
          <span>{filter.label}</span>
          {filter.choices ? (
            <select value={params.get(filter.name) ?? ''} onChange={set(filter.name)}>
              {filter.choices.map(([value, label]) => (
                <option value={value}>{label}</option>
              ))}
            </select>
          ) : (
            <input
              type="text"
              value={params.get(filter.name) ?? ''}
              placeholder={filter.placeholder}
              onChange={set(filter.name)}
            />
          )}
        </label>
      ))}
    </search>
  );
}
