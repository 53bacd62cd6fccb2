export { default, KeyObject, MachineObject } from "oncekey-worker";
