/**
 * The cost of a call as the provider reported it: the names and values of its own fields or headers, unchanged, such as
 * `{"usage.cost": 0.0012}`, `{"character-cost": "120"}` or `{"quota": 3}`. Only operators see them.
 */
export type ProviderFigures = Readonly<Record<string, number | string>>;
