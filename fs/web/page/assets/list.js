// The list of all recordings.
window.recfs = Object.freeze({ version: 1, view: "list", ready: true, error: null });
