import type { MoneyKind } from '../billing/accounts/accounts.js';

/** Token of the {@link NewAccountMoney}. */
export const NEW_ACCOUNT_MONEY = Symbol('NEW_ACCOUNT_MONEY');

/**
 * The money of a new account where the operator does not choose: play money while the sandbox serves every provider, real
 * money otherwise (decision G-110).
 */
export type NewAccountMoney = () => MoneyKind;
