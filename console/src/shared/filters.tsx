import type { TargetedEvent } from 'preact';
import { useSearchParams } from 'wouter-preact';
import { localMoment, secondsOf } from './time.js';

type Changed = TargetedEvent<HTMLInputElement | HTMLSelectElement>;

/** A filter of a list: its name is that of the parameter in the address and in the API. */
export interface Filter {
  readonly name: string;
  readonly label: string;
  /** The values to choose from; without them it is a text. */
  readonly choices?: readonly (readonly [string, string])[];
  readonly placeholder?: string;
  /** A moment: the address has epoch seconds. */
  readonly isTime?: boolean;
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
  const set =
    ({ name: field, isTime }: Filter) =>
    (event: Changed) => {
      const next = new URLSearchParams(params);
      const typed = event.currentTarget.value.trim();
      const value = isTime ? String(secondsOf(typed) ?? '') : typed;
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
            <select value={params.get(filter.name) ?? ''} onChange={set(filter)}>
              {filter.choices.map(([value, label]) => (
                <option value={value}>{label}</option>
              ))}
            </select>
          ) : (
            <input
              type={filter.isTime ? 'datetime-local' : 'text'}
              value={shownIn(filter, params.get(filter.name) ?? '')}
              placeholder={filter.placeholder}
              onChange={set(filter)}
            />
          )}
        </label>
      ))}
    </search>
  );
}

const shownIn = ({ isTime }: Filter, value: string): string =>
  isTime && value !== '' ? localMoment(Number(value)) : value;
