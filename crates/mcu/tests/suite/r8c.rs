mod instructions;
mod oracle;
mod peripherals;
mod timing;
mod timing_table;
